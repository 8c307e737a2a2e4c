int other(int sensor)
{
    return sensor;
}
