const dschedule_t ksDomSchedule[] = {
    { .domain = 0, .length = SHORT },
    { 1, 4 },
};
