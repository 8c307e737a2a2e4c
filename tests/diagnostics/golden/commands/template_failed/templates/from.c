char name[] = "/*? me.interface.colour ?*/";
