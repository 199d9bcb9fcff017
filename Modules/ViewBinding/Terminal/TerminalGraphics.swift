public import AlcedoCore

/// The protocol with which a terminal shows images.
///
/// ```swift
/// let graphics = TerminalGraphics(fileDescriptor: 0)
/// let renderer = TerminalRenderer(canvas: canvas, depth: .trueColor, graphics: graphics)
/// ```
public enum TerminalGraphics: Sendable, Hashable {
    /// Character cells with two pixels each, which every terminal supports.
    case blocks
    /// Pixels in the Kitty graphics protocol, supported by kitty, Ghostty, WezTerm and Konsole. `cell` is the size of a
    /// character cell in pixels.
    case kitty(cell: PixelSize)
    /// Pixels of at most 256 colors in DEC's Sixel format, supported by xterm, foot, mlterm, Windows Terminal, and tmux
    /// if built with it. `cell` is the size of a character cell in pixels.
    case sixel(cell: PixelSize)

    /// The size of a cell in pixels, with each side clamped to 1...1,000; nil for blocks.
    var cell: PixelSize? {
        switch self {
        case .blocks: nil
        case .kitty(let cell), .sixel(let cell):
            PixelSize(width: min(max(1, cell.width), 1_000), height: min(max(1, cell.height), 1_000))
        }
    }
}

extension TerminalGraphics {
    /// The size of a cell in pixels that is assumed if a terminal does not report it. It is typical of common fonts.
    package static let usualCell = PixelSize(width: 10, height: 20)

    /// Queries the terminal for the best protocol that it supports: Kitty, otherwise Sixel, otherwise blocks.
    ///
    /// Blocks the thread until the terminal responds, at most for the timeout. Input typed during this time is lost.
    ///
    /// - Parameters:
    ///   - fileDescriptor: The file descriptor of a terminal, open for reading and writing. The caller keeps ownership.
    ///     For anything else, and in a background process, the result is ``blocks``.
    ///   - timeout: The maximum time for the whole response. Later responses are ignored, and the result can then be
    ///     ``blocks`` although the terminal supports more. A slow connection may need more time. Default: 300 ms.
    public init(fileDescriptor: Int32, timeout: Duration = .milliseconds(300)) {
        self.init(asking: TerminalFile(fileDescriptor: fileDescriptor), timeout: timeout)
    }

    package init(
        asking terminal: some TerminalPort, timeout: Duration = .milliseconds(300),
        clock: any TimeSource = SystemClock()
    ) {
        self = Self.replies(of: terminal, timeout, clock).map { Self($0) } ?? .blocks
    }

    /// Returns the size of a cell in pixels as reported by the terminal, or ``usualCell`` if it is not reported. Blocks
    /// like ``init(asking:timeout:clock:)``.
    package static func cell(
        asking terminal: some TerminalPort, timeout: Duration = .milliseconds(300),
        clock: any TimeSource = SystemClock()
    ) -> PixelSize { replies(of: terminal, timeout, clock)?.cell ?? usualCell }

    /// Returns whether the terminal should be queried: the output is a terminal, and its color depth according to the
    /// environment is not ``TerminalColorDepth/none``.
    package static func shouldQueryTerminal(environment: [String: String], isTerminal: Bool) -> Bool {
        isTerminal && TerminalColorDepth(environment: environment, isTerminal: true) != .none
    }

    private init(_ replies: TerminalReplies) {
        let cell = replies.cell ?? Self.usualCell
        self = replies.supportsKitty ? .kitty(cell: cell) : replies.supportsSixel ? .sixel(cell: cell) : .blocks
    }

    /// Returns the responses of the terminal; nil if it cannot be queried.
    private static func replies(
        of terminal: some TerminalPort, _ timeout: Duration, _ clock: any TimeSource
    ) -> TerminalReplies? {
        guard terminal.begin() else { return nil }
        defer { terminal.end() }
        var replies = TerminalReplies()
        guard terminal.write(TerminalReplies.query) else { return nil }
        let end = clock.uptime + timeout
        while !replies.isComplete, clock.uptime < end {
            let bytes = terminal.read(within: end - clock.uptime)
            if bytes.isEmpty { break }
            replies.read(bytes)
        }
        return replies
    }
}

/// An incremental parser for the responses of a terminal. Ignores all other input.
struct TerminalReplies: Sendable {
    /// The maximum length of a response. Longer input is ignored.
    private static let longest = 256

    private enum State: Sendable {
        case text, escape, control, string, stringEscape
    }

    /// Whether the terminal supports the Kitty graphics protocol.
    private(set) var supportsKitty = false
    /// Whether the terminal lists Sixel among its extensions (DA1, number 4).
    private(set) var supportsSixel = false
    /// The size of a character cell in pixels; nil if the terminal has not reported it.
    private(set) var cell: PixelSize?
    /// Whether the DA1 response, which every terminal sends last, has been received.
    private(set) var isComplete = false

    private var state = State.text
    private var content: [UInt8] = []

    /// The query: a Kitty request with one invisible pixel, then a request for the size of a cell, and finally DA1, to
    /// which every terminal responds.
    ///
    /// Source: the Kitty protocol's "Querying support and available transmission mediums"; xterm's ctlseqs, XTWINOPS 16
    /// and DA1.
    static let query = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t\u{1B}[c"

    /// Parses bytes.
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
