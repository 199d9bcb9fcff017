import AlcedoCore

/// The first line of standard output: who answers.
struct Hello: Encodable, Sendable {
    private struct Program: Encodable {
        var name = "Alcedo"
        var version = AlcedoVersion.text
    }

    private var hello = Program()

    init() {}
}
