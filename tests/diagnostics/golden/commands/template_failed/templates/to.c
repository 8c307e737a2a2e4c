int x;
/*- if -*/
