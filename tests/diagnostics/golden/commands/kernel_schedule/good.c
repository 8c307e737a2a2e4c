/* The kernel's table: { .domain = 7, .length = 7 } is a comment. */
const dschedule_t ksDomSchedule[] = {
    { .domain = 0, .length = 5 }, // 10 ms
    { .length = 0x2, .domain = 1 },
};
const word_t ksDomScheduleLength = 2;
