#define task_priority_attributes() attribute int _priority;
