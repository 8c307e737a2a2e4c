// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The camkes-rt developers
//
// The language of .camkes files for editors: parser/camkes.lark, with lines of the preprocessor as comments.
// Words such as `requests` and `ms` are keywords only where they have a meaning.

const list = (rule) => optional(seq(rule, repeat(seq(",", rule)), optional(",")));
const LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%", "**"]];

module.exports = grammar({
    name: "camkes",
    word: ($) => $.identifier,
    extras: ($) => [/\s/, $.comment, $.preprocessor],

    rules: {
        source_file: ($) => repeat(choice($.import, $.procedure, $.struct, $.connector, $.component, $.composition, $.configuration, $.assembly, $.macro, ";")),
        comment: () => token(choice(seq("//", /[^\n]*/), seq("/*", /[^*]*\*+([^/*][^*]*\*+)*/, "/"))),
        preprocessor: () => token(prec(-1, /#([^\n\\]|\\\r?\n|\\[^\n])*/)),

        import: ($) => seq("import", $.path, ";"),
        // What the preprocessor would replace, in the place of declarations.
        macro: ($) => prec.right(-1, seq(field("name", $.identifier), optional($.arguments), optional(";"))),
        arguments: ($) => seq("(", repeat(choice(/[^()\s][^()]*/, $.arguments)), ")"),

        include: ($) => seq("include", $.path, ";"),
        path: ($) => choice(repeat1($.string), $.angle),
        angle: () => /<[^<>;,"{}\s]+>/,

        _name: ($) => choice($.identifier, alias("Buf", $.identifier)),
        reference: ($) => prec.left(seq($._name, repeat(seq(".", $._name)))),

        procedure: ($) => seq("procedure", optional(field("name", $._name)), "{", repeat(choice($.method, $.procedure_attribute, $.include, $.macro)), "}"),
        method: ($) => seq(choice("void", $._type), field("name", $._name), "(", optional(choice("void", seq($.parameter, repeat(seq(",", $.parameter)), optional(",")))), ")", ";"),
        parameter: ($) => seq(optional($.direction), $._type, field("name", $._name), optional($.array)),
        direction: () => choice("in", "out", "inout", "refin"),
        array: () => seq("[", "]"),

        _type: ($) => choice($.primitive_type, $.struct_type, alias($.reference, $.named_type)),
        primitive_type: () => choice(
            seq(optional("signed"), choice("int", "integer", "char")), "signed",
            prec.right(seq("unsigned", optional(choice("int", "integer", "char")))), "int64_t", "uint64_t", "string"),
        struct_type: ($) => seq("struct", $._name),
        struct: ($) => seq("struct", field("name", $._name), $.struct_body),
        struct_body: ($) => seq("{", repeat(seq($.member, ";")), "}"),
        attribute: ($) => seq("attribute", $.member, ";"),
        member: ($) => seq(choice($._type, $.struct_body), field("name", $._name), optional($.array), optional(seq("=", $._value))),
        procedure_attribute: ($) => $.member,

        component: ($) => seq("component", optional(field("name", $._name)), $.component_body),
        component_body: ($) => seq("{", repeat(choice($.flag, $.requestor, $.interface, $.sync, $.attribute, $.include, $._block, $.macro)), "}"),
        flag: () => seq(choice("control", "hardware", "criticality_control"), ";"),
        requestor: ($) => seq("requestor", optional($._expression), ";"),
        interface: ($) => seq(optional("maybe"), choice(
            seq(choice("uses", "provides"), field("type", $.reference)),
            seq(choice("emits", "consumes"), field("type", $._name)),
            seq("dataport", field("type", choice($._name, $.buffer)))), field("name", $._name), optional($.with_clauses), ";"),
        buffer: ($) => seq("Buf", "(", $._expression, ")"),
        sync: ($) => seq("has", choice("mutex", "semaphore", "binary_semaphore", "condition"), field("name", $._name), optional($.with_clauses), ";"),

        with_clauses: ($) => seq("with", $.clause, repeat(seq(",", $.clause))),
        clause: ($) => choice(
            seq("priority_protocol", field("protocol", $.identifier)),
            seq("requests", "(", list($._name), ")"),
            seq("monitor", $._name),
            seq("overrun", field("policy", $.identifier)),
            seq("helpers", optional(seq("(", list($.reference), ")"))),
            seq("within", $.quantity),
            seq($._expression, choice("thread", "threads"))),

        connector: ($) => seq("connector", optional(field("name", $._name)), $.connector_body),
        connector_body: ($) => seq("{", repeat(choice($.connector_end, $.attribute)), "}"),
        connector_end: ($) => seq(choice("from", "to"), optional("hardware"), choice("Event", "Events", "Procedure", "Procedures", "Dataport", "Dataports"), optional(seq("with", $._expression, choice("thread", "threads"))), ";"),

        _block: ($) => choice($.composition, $.configuration, alias($._composition_by_name, $.composition), alias($._configuration_by_name, $.configuration)),
        composition: ($) => seq("composition", optional(field("name", $._name)), "{", repeat(choice($.instance, $.connection, $.group, $.export, $.macro)), "}"),
        _composition_by_name: ($) => seq("composition", $.reference, ";"),
        instance: ($) => seq("component", choice(field("type", $.reference), $.component_body), field("name", $._name), ";"),
        connection: ($) => seq("connection", choice(field("type", $.reference), $.connector_body), field("name", $._name), "(", list($.connection_end), ")", optional($.with_clauses), ";"),
        connection_end: ($) => seq(choice("from", "to"), $.reference),
        group: ($) => seq("group", optional(field("name", $._name)), "{", repeat($.instance), "}"),
        export: ($) => seq("export", $.reference, "->", $.reference, ";"),

        configuration: ($) => seq("configuration", optional(field("name", $._name)), "{", repeat(choice($.setting, $.macro)), "}"),
        _configuration_by_name: ($) => seq("configuration", $.reference, ";"),
        setting: ($) => seq(field("name", $.reference), choice(
            seq("=", choice($.quantity, repeat1($.string), $.list, $.dictionary, $.query)),
            seq("<-", $.reference, repeat($.lookup))), ";"),
        quantity: ($) => seq($._expression, optional($.unit)),
        unit: () => choice("ns", "us", "ms", "s", "ticks"),
        lookup: ($) => seq("[", choice($._expression, repeat1($.string)), "]"),
        query: ($) => seq(field("name", $._name), "(", optional(choice($.dictionary, seq("[", list($.dictionary), "]"))), ")", repeat($.lookup)),

        assembly: ($) => seq("assembly", optional(field("name", $._name)), "{", repeat(choice($._block, $.schedule)), "}"),
        schedule: ($) => seq("schedule", "{", "[", list($.schedule_entry), "]", "}"),
        schedule_entry: ($) => seq("(", $.number, ",", $.number, optional($.unit), ")"),

        _value: ($) => choice($._expression, repeat1($.string), $.list, $.dictionary),
        list: ($) => seq("[", list($._value), "]"),
        dictionary: ($) => seq("{", list($.entry), "}"),
        entry: ($) => seq(choice($._expression, repeat1($.string)), ":", $._value),

        _expression: ($) => choice($.number, $.boolean, $.unary, $.binary, $.conditional, seq("(", $._expression, ")")),
        unary: ($) => prec(20, seq(choice("+", "-", "!", "~"), $._expression)),
        binary: ($) => choice(...LEVELS.map((operators, level) =>
            prec.left(level + 2, seq($._expression, operators.length > 1 ? choice(...operators) : operators[0], $._expression)))),
        conditional: ($) => prec.right(1, seq($._expression, "?", $._expression, ":", $._expression)),
        number: () => /0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?/,
        boolean: () => choice("true", "True", "false", "False"),
        string: () => /"[^"]*"/,
        identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    },
});
