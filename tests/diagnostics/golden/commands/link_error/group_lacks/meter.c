int reading_value(int sensor)
{
    return sensor;
}
