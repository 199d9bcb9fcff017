public import AlcedoCore

extension TerminalGraphics {
    /// Pixels of a cell where the terminal does not say: those of common fonts.
    public static let usualCell = PixelSize(width: 10, height: 20)

    /// The best way that a terminal has, as it says itself: Kitty, else Sixel, else blocks.
    ///
    /// Blocks. While the terminal answers, what is typed is lost, for the time limit at most.
    ///
    /// - Parameters:
    ///   - terminal: Asked before this returns.
    ///   - limit: Time for the whole answer; an answer across a slow line may need more. Default: 300 ms.
    ///   - clock: Default: the machine's.
    public init(
        asking terminal: some TerminalPort, limit: Duration = .milliseconds(300), clock: any TimeSource = SystemClock()
    ) {
        self = Self.replies(of: terminal, limit, clock).map { Self($0) } ?? .blocks
    }

    /// The pixels of a cell, as the terminal says; a usual size when it does not. Blocks as ``init(asking:limit:clock:)``.
    public static func cell(
        asking terminal: some TerminalPort, limit: Duration = .milliseconds(300), clock: any TimeSource = SystemClock()
    ) -> PixelSize { replies(of: terminal, limit, clock)?.cell ?? usualCell }

    /// Whether the environment leaves it worth asking: a terminal that has colours, none of which were refused.
    public static func isWorthAsking(environment: [String: String], isTerminal: Bool) -> Bool {
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
        guard terminal.write(TerminalReplies.question) else { return nil }
        let end = clock.uptime + limit
        while !replies.isComplete, clock.uptime < end {
            let bytes = terminal.read(within: end - clock.uptime)
            if bytes.isEmpty { break }
            replies.read(bytes)
        }
        return replies
    }
}
