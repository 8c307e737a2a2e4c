const dschedule_t ksDomSchedule[] = { { .domain = 0, .length = 5 }, { .domain = 2, .length = 5 } };
