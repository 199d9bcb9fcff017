import AlcedoCore

/// Reads what a terminal answers, byte by byte, and ignores what else is typed.
struct TerminalReplies: Sendable {
    /// An answer is shorter; what is longer is something else.
    private static let longest = 256

    private enum State: Sendable {
        case text, escape, control, string, stringEscape
    }

    /// Whether the Kitty graphics protocol is spoken.
    private(set) var supportsKitty = false
    /// Whether the terminal names Sixel among its extensions (DA1, number 4).
    private(set) var supportsSixel = false
    /// Pixels of a character cell.
    private(set) var cell: PixelSize?
    /// Whether the answer has come that every terminal gives, and gives last.
    private(set) var isComplete = false

    private var state = State.text
    private var content: [UInt8] = []

    /// Asks for the Kitty protocol by a picture of one pixel that is not shown, for the size of a cell, and last for what
    /// every terminal answers.
    ///
    /// Source: the Kitty protocol's "Querying support and available transmission mediums"; xterm's ctlseqs, XTWINOPS 16
    /// and DA1.
    static let question = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t\u{1B}[c"

    mutating func read(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { read(byte) }
    }

    private mutating func read(_ byte: UInt8) {
        switch (state, byte) {
        case (.text, 0x1B), (.control, 0x1B): state = .escape
        case (.string, 0x1B): state = .stringEscape
        case (.text, _): break
        case (.escape, UInt8(ascii: "[")): begin(.control)
        case (.escape, UInt8(ascii: "_")): begin(.string)
        case (.escape, 0x1B): break
        case (.escape, _): state = .text
        case (.control, 0x40...0x7E):
            control(final: byte)
            state = .text
        case (.stringEscape, UInt8(ascii: "\\")):
            string()
            state = .text
        case (.stringEscape, UInt8(ascii: "[")): begin(.control)
        case (.stringEscape, _): state = .text
        case (.control, _), (.string, _):
            content.append(byte)
            if content.count > Self.longest { state = .text }
        }
    }

    private mutating func begin(_ state: State) {
        self.state = state
        content = []
    }

    private mutating func control(final: UInt8) {
        let text = String(decoding: content, as: UTF8.self)
        switch final {
        case UInt8(ascii: "c") where text.hasPrefix("?"):
            supportsSixel = text.dropFirst().split(separator: ";").contains("4")
            isComplete = true
        case UInt8(ascii: "t"):
            let numbers = text.split(separator: ";").map { Int($0) }
            guard numbers.count == 3, numbers[0] == 6, let height = numbers[1], let width = numbers[2],
                (1...1_000).contains(height), (1...1_000).contains(width)
            else { return }
            cell = PixelSize(width: width, height: height)
        default: break
        }
    }

    private mutating func string() {
        if String(decoding: content, as: UTF8.self) == "Gi=31;OK" { supportsKitty = true }
    }
}
