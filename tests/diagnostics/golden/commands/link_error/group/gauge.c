int measure(int sensor);

int reading_value(int sensor)
{
    return measure(sensor);
}
