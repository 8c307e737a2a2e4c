; SPDX-License-Identifier: BSD-2-Clause
; SPDX-FileCopyrightText: 2026 The camkes-rt developers
(comment) @comment
(preprocessor) @keyword.directive
[(string) (angle)] @string
(number) @number
(boolean) @boolean
(unit) @type.builtin
(primitive_type) @type.builtin
(direction) @keyword.modifier
["import" "include"] @keyword.import
["procedure" "struct" "component" "connector" "composition" "configuration" "assembly" "group" "connection" "schedule"] @keyword.type
["control" "hardware" "requestor" "criticality_control" "uses" "provides" "emits" "consumes" "dataport" "maybe" "has" "mutex" "semaphore"
 "binary_semaphore" "condition" "attribute" "export" "from" "to" "with" "thread" "threads" "priority_protocol" "requests"
 "monitor" "overrun" "helpers" "within" "void"] @keyword
["Event" "Events" "Procedure" "Procedures" "Dataport" "Dataports"] @type.builtin
(clause protocol: (identifier) @constant)
(clause policy: (identifier) @constant)
(method name: (identifier) @function.method)
(parameter name: (identifier) @variable.parameter)
(named_type) @type
(interface type: (_) @type)
(interface name: (identifier) @property)
(component name: (identifier) @type.definition)
(procedure name: (identifier) @type.definition)
(instance type: (reference) @type name: (identifier) @variable)
(connection type: (reference) @type name: (identifier) @variable)
(setting name: (reference) @property)
(member name: (identifier) @property)
(macro name: (identifier) @function.macro)
