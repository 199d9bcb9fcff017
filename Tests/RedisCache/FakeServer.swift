import AlcedoCore
import AlcedoLibc
import AlcedoTesting
import Dispatch
import TestSupport

/// A server on a socket with a test's replies at a given pace. Ends with this object. It queues the commands between
/// `MULTI` and `EXEC` of a connection, as Redis does, and requests their replies from the test at `EXEC`.
final class FakeServer: Sendable {
    /// The pace of reading and replying.
    struct Pace: Sendable {
        /// Milliseconds before each piece.
        var pause: Int32 = 0
        var readByteCount = 1 << 20
        var sendByteCount = 1 << 20
    }

    private let listener: Int32
    private let executed = Watched<[[String]]>([])
    private let received = Watched(0)

    /// - Parameter makeReply: Returns the reply to a command.
    init(path: String, pace: Pace = Pace(), makeReply: @escaping @Sendable ([String]) -> String) throws {
        listener = try UnixListener.open(path, blocks: true)
        DispatchQueue(label: "alcedo.tests.redis").async { [listener, executed, received] in
            while true {
                let file = accept(listener, nil, nil)
                guard file >= 0 else {
                    // Other errors are temporary. If the socket were closed now, its number might belong to another at
                    // the end.
                    if errno == EINVAL { break } else { continue }
                }
                DispatchQueue(label: "alcedo.tests.redis.connection").async {
                    Self.serve(file, pace, executed, received, makeReply)
                    close(file)
                }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// The received commands, as words.
    var commands: [[String]] { executed.value }

    /// The number of received bytes.
    var receivedByteCount: Int { received.value }

    /// Returns the arguments of all commands with a name.
    func words(of name: String) -> [[String]] { commands.filter { $0.first == name }.map { Array($0.dropFirst()) } }

    private static func serve(
        _ file: Int32, _ pace: Pace, _ executed: Watched<[[String]]>, _ received: Watched<Int>,
        _ makeReply: ([String]) -> String
    ) {
        var bytes: [UInt8] = []
        var queue: [[String]]?
        var piece = [UInt8](repeating: 0, count: pace.readByteCount)
        while true {
            while let (words, rest) = command(bytes[...]) {
                bytes = Array(rest)
                executed.update { $0.append(words) }
                var left = Array(reply(words, &queue, makeReply).utf8)[...]
                while !left.isEmpty {
                    poll(nil, 0, pace.pause)
                    let part = Array(left.prefix(pace.sendByteCount))
                    let count = send(file, part, part.count, Int32(MSG_NOSIGNAL))
                    guard count > 0 else { return }
                    left = left.dropFirst(count)
                }
            }
            poll(nil, 0, pace.pause)
            let count = recv(file, &piece, piece.count, 0)
            guard count > 0 else { return }
            bytes += piece[..<count]
            received.update { $0 += count }
        }
    }

    private static func reply(
        _ words: [String], _ queue: inout [[String]]?, _ makeReply: ([String]) -> String
    ) -> String {
        switch (words.first, queue) {
        case ("MULTI", _):
            queue = []
            return "+OK\r\n"
        case ("EXEC", let commands?):
            queue = nil
            return "*\(commands.count)\r\n" + commands.map(makeReply).joined()
        case (_, let commands?):
            queue = commands + [words]
            return "+QUEUED\r\n"
        default: return makeReply(words)
        }
    }

    /// Returns the first command and the bytes after it, or nil while it is incomplete.
    private static func command(_ bytes: ArraySlice<UInt8>) -> (words: [String], rest: ArraySlice<UInt8>)? {
        guard var (count, rest) = number(bytes) else { return nil }
        var words: [String] = []
        while count > 0 {
            guard let (length, word) = number(rest), word.count >= length + 2 else { return nil }
            words.append(String(decoding: word.prefix(length), as: UTF8.self))
            rest = word.dropFirst(length + 2)
            count -= 1
        }
        return (words, rest)
    }

    /// Returns the number of a line such as `$12` and the bytes after it.
    private static func number(_ bytes: ArraySlice<UInt8>) -> (Int, ArraySlice<UInt8>)? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let number = Int(String(decoding: bytes[..<end].dropFirst().dropLast(), as: UTF8.self))
        else { return nil }
        return (number, bytes[(end + 1)...])
    }
}
