public import AlcedoCore

/// How a terminal shows pictures.
public enum TerminalGraphics: Sendable, Hashable {
    /// In character cells, two pixels each: every terminal.
    case blocks
    /// In pixels, by the Kitty graphics protocol: kitty, Ghostty, WezTerm, Konsole.
    case kitty(cell: PixelSize)
    /// In pixels of at most 256 colours, by DEC's Sixel: xterm, foot, mlterm, Windows Terminal, tmux where it was built
    /// with it.
    case sixel(cell: PixelSize)

    /// Pixels of a cell, where pictures are made of pixels; a side out of 1 to 1,000 counts as the nearest of them.
    var cell: PixelSize? {
        switch self {
        case .blocks: nil
        case .kitty(let cell), .sixel(let cell):
            PixelSize(width: min(max(1, cell.width), 1_000), height: min(max(1, cell.height), 1_000))
        }
    }
}

extension TerminalGraphics {
    /// Pixels of a cell where the terminal does not say: those of common fonts.
    package static let usualCell = PixelSize(width: 10, height: 20)

    /// Asks the terminal for the best protocol that it has: Kitty, else Sixel, else blocks.
    ///
    /// Blocks the thread. What is typed while the terminal replies is lost, for the time limit at most.
    ///
    /// - Parameters:
    ///   - fileDescriptor: A terminal, open for reading and writing; it stays the caller's. Anything else gives blocks.
    ///   - limit: The time for the whole reply; a reply across a slow line may need more. Default: 300 ms.
    public init(fileDescriptor: Int32, limit: Duration = .milliseconds(300)) {
        self.init(asking: TerminalFile(fileDescriptor: fileDescriptor), limit: limit)
    }

    package init(
        asking terminal: some TerminalPort, limit: Duration = .milliseconds(300), clock: any TimeSource = SystemClock()
    ) {
        self = Self.replies(of: terminal, limit, clock).map { Self($0) } ?? .blocks
    }

    /// The pixels of a cell, as the terminal says; a usual size when it does not. Blocks as ``init(asking:limit:clock:)``.
    package static func cell(
        asking terminal: some TerminalPort, limit: Duration = .milliseconds(300), clock: any TimeSource = SystemClock()
    ) -> PixelSize { replies(of: terminal, limit, clock)?.cell ?? usualCell }

    /// Whether the environment leaves it worth asking: a terminal that has colours, none of which were refused.
    package static func shouldQueryTerminal(environment: [String: String], isTerminal: Bool) -> Bool {
        isTerminal && TerminalColorDepth(environment: environment, isTerminal: true) != .none
    }

    private init(_ replies: TerminalReplies) {
        let cell = replies.cell ?? Self.usualCell
        self = replies.supportsKitty ? .kitty(cell: cell) : replies.supportsSixel ? .sixel(cell: cell) : .blocks
    }

    /// nil when the terminal cannot be asked.
    private static func replies(
        of terminal: some TerminalPort, _ limit: Duration, _ clock: any TimeSource
    ) -> TerminalReplies? {
        guard terminal.begin() else { return nil }
        defer { terminal.end() }
        var replies = TerminalReplies()
        guard terminal.write(TerminalReplies.query) else { return nil }
        let end = clock.uptime + limit
        while !replies.isComplete, clock.uptime < end {
            let bytes = terminal.read(within: end - clock.uptime)
            if bytes.isEmpty { break }
            replies.read(bytes)
        }
        return replies
    }
}

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
    static let query = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t\u{1B}[c"

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
            endControl(final: byte)
            state = .text
        case (.stringEscape, UInt8(ascii: "\\")):
            endString()
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

    private mutating func endControl(final: UInt8) {
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

    private mutating func endString() {
        if String(decoding: content, as: UTF8.self) == "Gi=31;OK" { supportsKitty = true }
    }
}
