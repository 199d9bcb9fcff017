import AlcedoTerminal
import Testing

@Suite struct TerminalColorDepthTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var environment: [String: String]
        var isTerminal = true
        var depth: TerminalColorDepth

        var testDescription: String { "\(environment)\(isTerminal ? "" : ", no terminal")" }
    }

    static let rows = [
        Row(environment: [:], depth: .none),
        Row(environment: ["TERM": "xterm"], depth: .ansi256),
        Row(environment: ["TERM": "tmux"], depth: .ansi256),
        Row(environment: ["TERM": "linux"], depth: .none),
        Row(environment: ["TERM": "xterm-256color"], depth: .ansi256),
        Row(environment: ["TERM": "screen-256color-bce"], depth: .ansi256),
        Row(environment: ["TERM": "xterm-256color", "COLORTERM": "truecolor"], depth: .trueColor),
        Row(environment: ["TERM": "xterm", "COLORTERM": "24bit"], depth: .trueColor),
        Row(environment: ["TERM": "xterm-direct"], depth: .trueColor),
        Row(environment: ["TERM": "xterm-256color", "COLORTERM": "yes"], depth: .ansi256),
        Row(environment: ["TERM": "dumb", "COLORTERM": "truecolor"], depth: .none),
        Row(environment: ["TERM": "xterm-256color", "NO_COLOR": "1"], depth: .none),
        Row(environment: ["TERM": "xterm-256color", "NO_COLOR": ""], depth: .ansi256),
        Row(environment: ["TERM": "xterm-256color", "COLORTERM": "truecolor"], isTerminal: false, depth: .none),
        Row(environment: ["COLORTERM": "truecolor", "FORCE_COLOR": "1"], isTerminal: false, depth: .trueColor),
        Row(environment: ["FORCE_COLOR": "1"], isTerminal: false, depth: .ansi256),
        Row(environment: ["TERM": "dumb", "CLICOLOR_FORCE": "1"], depth: .ansi256),
        Row(environment: ["TERM": "xterm-256color", "FORCE_COLOR": "0"], isTerminal: false, depth: .none),
        Row(environment: ["NO_COLOR": "1", "FORCE_COLOR": "1"], depth: .none),
    ]

    @Test(arguments: rows)
    func `the environment determines the color depth`(row: Row) {
        #expect(TerminalColorDepth(environment: row.environment, isTerminal: row.isTerminal) == row.depth)
    }
}
