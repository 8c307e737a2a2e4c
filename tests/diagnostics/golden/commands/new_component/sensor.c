int reading_read(int channel) { return channel; }
