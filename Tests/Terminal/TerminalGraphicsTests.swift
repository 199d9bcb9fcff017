import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoTerminal

@Suite(.timeLimit(.minutes(10))) struct TerminalGraphicsTests {
    private static let kitty = "\u{1B}_Gi=31;OK\u{1B}\\"
    private static let cell = "\u{1B}[6;18;9t"
    private static let xterm = "\u{1B}[?64;1;2;4;6c"
    private static let plain = "\u{1B}[?62;22c"

    /// A terminal with prepared replies, in pieces that take 100 ms each.
    private final class PlayedTerminal: TerminalPort {
        private let clock: ManualClock
        private let pieces: Locked<[String]>
        private let events = Locked<[String]>([])
        private let canBegin: Bool

        var log: [String] { events.withLock { $0 } }

        init(_ pieces: [String], clock: ManualClock, canBegin: Bool = true) {
            self.pieces = Locked(pieces)
            self.clock = clock
            self.canBegin = canBegin
        }

        func begin() -> Bool {
            events.withLock { $0.append("begin") }
            return canBegin
        }

        func write(_ text: String) -> Bool {
            events.withLock { $0.append("write") }
            return !text.isEmpty
        }

        func read(within time: Duration) -> [UInt8] {
            clock.advance(by: min(time, .milliseconds(100)))
            return pieces.withLock { $0.isEmpty ? [] : Array($0.removeFirst().utf8) }
        }

        func end() { events.withLock { $0.append("end") } }
    }

    private func graphics(_ pieces: [String], canBegin: Bool = true) -> (TerminalGraphics, log: [String]) {
        let clock = ManualClock()
        let terminal = PlayedTerminal(pieces, clock: clock, canBegin: canBegin)
        return (TerminalGraphics(asking: terminal, clock: clock), terminal.log)
    }

    @Test(
        arguments: [
            ([kitty + cell + plain], TerminalGraphics.kitty(cell: PixelSize(width: 9, height: 18))),
            ([cell + xterm], .sixel(cell: PixelSize(width: 9, height: 18))),
            ([xterm], .sixel(cell: PixelSize(width: 10, height: 20))),
            ([kitty + cell + xterm], .kitty(cell: PixelSize(width: 9, height: 18))),
            ([plain], .blocks), (["\u{1B}_Gi=31;ENOTSUPPORTED\u{1B}\\" + plain], .blocks), ([], .blocks),
            // In pieces between typed characters, and the last one too late.
            (
                ["ls\u{1B}", "_Gi=31;", "OK\u{1B}\\x\u{1B}[6;1", "8;9t\u{1B}[A\u{1B}[?62c"],
                .kitty(cell: PixelSize(width: 10, height: 20))
            ),
            (
                ["ls\u{1B}", "_Gi=31;OK\u{1B}\\x\u{1B}[6;18;9t\u{1B}[A\u{1B}[?62c"],
                .kitty(cell: PixelSize(width: 9, height: 18))
            ),
            // Cells of zero size.
            (["\u{1B}[6;0;9t" + xterm], .sixel(cell: PixelSize(width: 10, height: 20))),
            (["\u{1B}[6;99999999999999999999;9t" + xterm], .sixel(cell: PixelSize(width: 10, height: 20))),
        ] as [([String], TerminalGraphics)])
    func `the terminal's reply determines the graphics`(pieces: [String], graphics: TerminalGraphics) {
        let (chosen, log) = self.graphics(pieces)

        #expect(chosen == graphics)
        #expect(log == ["begin", "write", "end"])
    }

    @Test func `a reply after the time limit is ignored`() {
        // A letter every 100 ms.
        let (chosen, log) = graphics((Self.kitty + Self.plain).map { String($0) })

        #expect(chosen == .blocks)
        #expect(log.last == "end")
    }

    @Test func `a terminal that cannot be queried uses blocks`() {
        let (chosen, log) = graphics([Self.xterm], canBegin: false)

        #expect(chosen == .blocks)
        #expect(log == ["begin"])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `the parser reads a valid reply after random bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("\u{1B}[_\\;?tc6419GiOK=\u{0}\u{7F}é".utf8)
        var replies = TerminalReplies()

        replies.read((0..<5_000).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
        replies.read((Self.cell + Self.plain).utf8)

        #expect(replies.cell.map { $0.isPositive && $0.width <= 1_000 && $0.height <= 1_000 } != false)
    }

    @Test func `the environment decides whether the terminal is queried`() {
        let ask = { TerminalGraphics.shouldQueryTerminal(environment: $0, isTerminal: $1) }

        #expect(ask(["TERM": "xterm-kitty"], true))
        #expect(ask(["TERM": "foot", "COLORTERM": "truecolor"], true))
        #expect(!ask(["TERM": "xterm-kitty"], false))
        #expect(!ask(["TERM": "dumb"], true))
        #expect(!ask(["TERM": "xterm", "NO_COLOR": "1"], true))
    }

    // MARK: A real terminal

    private func settings(_ file: Int32) -> tcflag_t {
        var settings = termios()
        tcgetattr(file, &settings)
        return settings.c_lflag
    }

    @Test func `a terminal that replies is left unchanged`() async throws {
        let terminal = try PseudoTerminal()
        let before = settings(terminal.inside)
        #expect(before & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON))
        let port = TerminalFile(fileDescriptor: terminal.inside)
        let executor = BlockingExecutor(name: "asking", maxConcurrent: 1)

        async let graphics = executor.run { TerminalGraphics(asking: port, timeout: .seconds(300)) }
        let query = try await terminal.read(until: "\u{1B}[c")
        let during = settings(terminal.inside)
        try terminal.type(Self.cell + Self.xterm)

        #expect(try await graphics == .sixel(cell: PixelSize(width: 9, height: 18)))
        #expect(query == TerminalReplies.query)
        #expect(during & tcflag_t(ECHO | ICANON) == 0)
        #expect(settings(terminal.inside) == before)
    }

    @Test func `a terminal that does not reply is left unchanged`() async throws {
        let terminal = try PseudoTerminal()
        let before = settings(terminal.inside)

        let graphics = TerminalGraphics(
            asking: TerminalFile(fileDescriptor: terminal.inside), timeout: .milliseconds(1))

        #expect(graphics == .blocks)
        #expect(settings(terminal.inside) == before)
    }

    @Test func `a signal does not end the wait for a reply`() {
        var times: [Int32] = []
        let isReadable = TerminalFile.isReadable(within: .seconds(300)) { milliseconds in
            times.append(milliseconds)
            errno = EINTR
            return times.count < 4 ? -1 : 1
        }
        #expect(isReadable)
        #expect(times.count == 4)
        #expect(times.first == 300_000)
        #expect(times == times.sorted(by: >=))

        let fails = TerminalFile.isReadable(within: .seconds(300)) { _ in
            errno = EBADF
            return -1
        }
        #expect(!fails)
        // Up to the time limit, which signals do not extend.
        let ends = TerminalFile.isReadable(within: .zero) { milliseconds in
            errno = EINTR
            return milliseconds == 0 ? 0 : -1
        }
        #expect(!ends)
    }

    @Test func `a file that is not a terminal is not queried`() {
        #expect(TerminalGraphics(asking: TerminalFile(fileDescriptor: -1)) == .blocks)
    }
}
