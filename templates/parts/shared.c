/*- macro shared(memory) --*/
extern unsigned char /*? memory.variable ?*/[/*? memory.size ?*/] __asm__("/*? memory.symbol ?*/");
__attribute__((visibility("default"), used, aligned(4096)))
unsigned char /*? memory.variable ?*/[/*? memory.size ?*/];
/*-- endmacro -*/
