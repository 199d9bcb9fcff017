import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import CHiredis
import FoundationEssentials

/// A connection to a Redis server. Methods block, and only one thread may use it at a time.
///
/// hiredis connects and parses replies. Commands are written to the socket here, so that long arguments are not copied,
/// and so that the time limits of a call also apply while it sends.
///
/// It is `@unchecked Sendable` because the caller that has taken it out of the pool is its only user.
final class RedisConnection: @unchecked Sendable {
    /// The maximum nesting depth of lists in a reply. The commands of this module nest at most two lists.
    private static let maximumReplyDepth = 4
    /// The number of bytes by which the replies to commands that are sent together may exceed the maximum size of an
    /// entry. Lists of keys may be longer than an entry if that size is small.
    private static let listByteCount = 4 << 20
    /// The size in bytes below which arguments are copied and sent together.
    private static let shortByteCount = 16 << 10
    /// The maximum size in bytes of a reply buffer that is kept for the next replies.
    private static let reusedByteCount = 64 << 10

    /// Flags that prevent SIGPIPE, which would end the process when a connection has ended, and make the call
    /// non-blocking. The timeout of a blocking call would start again with each part of a long argument.
    private static let sendFlags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)

    private let context: UnsafeMutablePointer<redisContext>
    /// The maximum time to wait until the server accepts or sends the next bytes.
    var responseTimeout: Duration
    private let callTimeout: Duration
    private let maximumReplyByteCount: Int
    /// Whether the server may still be in a transaction, and would queue the next command instead of running it.
    private(set) var isInTransaction = false

    /// Connects to a server, signs in and selects the database.
    ///
    /// - Throws: ``RedisFailure``.
    init(_ options: RedisOptions) throws(RedisFailure) {
        responseTimeout = max(.milliseconds(1), options.responseTimeout)
        callTimeout = max(.milliseconds(1), options.callTimeout)
        let (sum, overflows) = max(0, options.maximumEntryByteCount).addingReportingOverflow(Self.listByteCount)
        maximumReplyByteCount = overflows ? .max : sum
        let limit = Self.time(options.connectTimeout)
        let created =
            switch options.address {
            case .network(let host, let port): redisConnectWithTimeout(host, Int32(clamping: port), limit)
            case .socket(let path): redisConnectUnixWithTimeout(path, limit)
            }
        guard let created else {
            throw RedisFailure(kind: .connection, message: "cannot create a connection: out of memory")
        }
        context = created
        guard created.pointee.err == 0 else { throw failure }
        // Reads happen only after `poll` has reported data. The timeout prevents an endless wait in case the data is
        // gone by then.
        redisSetTimeout(created, Self.time(responseTimeout))
        var handshake: [[String]] = []
        if let password = options.password {
            handshake.append(["AUTH"] + (options.username.map { [$0] } ?? []) + [password])
        }
        if options.database != 0 { handshake.append(["SELECT", "\(options.database)"]) }
        if !handshake.isEmpty { _ = try execute(handshake.map { words in words.map { Data($0.utf8) } }) }
    }

    deinit { redisFree(context) }

    /// Sends commands and returns their replies in order.
    ///
    /// - Throws: ``RedisFailure``. Its kind is `rejected` if all commands have replies and one of these is an error.
    func execute(_ commands: [[Data]]) throws(RedisFailure) -> [RedisReply] {
        try Self.values(exchange(commands, by: ContinuousClock.now + callTimeout))
    }

    /// Runs commands as one atomic step: the server runs all of them, or none. Each attempt takes two round trips, and
    /// all attempts together have the time limit of one call. The commands are sent only after the server has begun the
    /// transaction, because a server that refuses to begin one would run them one by one.
    ///
    /// - Parameters:
    ///   - name: A key that must not change between the queries and the commands. If it changes, both are repeated.
    ///     Default: none.
    ///   - queries: Commands that run before the transaction. Default: none.
    ///   - makeCommands: A closure that returns the commands of the transaction for the replies to `queries`.
    /// - Returns: The replies to the commands.
    /// - Throws: ``RedisFailure``.
    func transact(
        watching name: Data? = nil, after queries: [[Data]] = [],
        _ makeCommands: ([RedisReply]) throws(RedisFailure) -> [[Data]]
    ) throws(RedisFailure) -> [RedisReply] {
        let deadline = ContinuousClock.now + callTimeout
        let preparation = (name.map { [[Data("WATCH".utf8), $0]] } ?? []) + queries
        isInTransaction = true
        while true {
            let found = try Self.values(exchange(preparation + [[Data("MULTI".utf8)]], by: deadline)).dropLast()
            let commands = try makeCommands(Array(found.suffix(queries.count)))
            let results = try exchange(commands + [[Data("EXEC".utf8)]], by: deadline)
            switch results.last {
            case .success(.none): continue
            case .failure(let failure) where failure.message.hasPrefix("EXECABORT"): isInTransaction = false
            case .success(.list(let replies)):
                isInTransaction = false
                return replies
            default: break
            }
            _ = try Self.values(results)
            throw RedisFailure(kind: .rejected, message: "incomplete transaction reply")
        }
    }

    /// Returns the replies.
    ///
    /// - Throws: The first rejection, because later ones may result from it.
    private static func values(
        _ results: [Result<RedisReply, RedisFailure>]
    ) throws(RedisFailure) -> [RedisReply] {
        var values: [RedisReply] = []
        for result in results { values.append(try result.get()) }
        return values
    }

    /// Sends commands and returns the reply or the rejection of each.
    private func exchange(
        _ commands: [[Data]], by deadline: ContinuousClock.Instant
    ) throws(RedisFailure) -> [Result<RedisReply, RedisFailure>] {
        try send(commands, by: deadline)
        var results: [Result<RedisReply, RedisFailure>] = []
        var received = 0
        for _ in commands {
            let found = try read(&received, by: deadline)
            defer { freeReplyObject(found) }
            results.append(Result { () throws(RedisFailure) in try Self.reply(found, Self.maximumReplyDepth) })
        }
        if received > Self.reusedByteCount { shrinkReader() }
        return results
    }

    // MARK: Sending

    private func send(_ commands: [[Data]], by deadline: ContinuousClock.Instant) throws(RedisFailure) {
        var buffer = Data()
        for words in commands {
            buffer.append(contentsOf: "*\(words.count)\r\n".utf8)
            for word in words {
                buffer.append(contentsOf: "$\(word.count)\r\n".utf8)
                if word.count < Self.shortByteCount {
                    buffer.append(word)
                } else {
                    try send(buffer, by: deadline)
                    try send(word, by: deadline)
                    buffer = Data()
                }
                buffer.append(contentsOf: "\r\n".utf8)
            }
        }
        try send(buffer, by: deadline)
    }

    private func send(_ bytes: Data, by deadline: ContinuousClock.Instant) throws(RedisFailure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sent))
                return AlcedoLibc.send(context.pointee.fd, rest.baseAddress, rest.count, Self.sendFlags)
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                try wait(for: POLLOUT, by: deadline)
            } else if errno != EINTR {
                throw RedisFailure(kind: .connection, message: String(cString: strerror(errno)))
            }
        }
    }

    // MARK: Reading

    /// Reads one reply.
    ///
    /// - Parameters:
    ///   - received: The number of received bytes, which is increased.
    ///   - deadline: The time at which the call fails.
    private func read(
        _ received: inout Int, by deadline: ContinuousClock.Instant
    ) throws(RedisFailure) -> UnsafeMutablePointer<redisReply> {
        while true {
            var found: UnsafeMutableRawPointer?
            guard redisGetReplyFromReader(context, &found) == REDIS_OK else { throw failure }
            if let found { return found.assumingMemoryBound(to: redisReply.self) }
            try wait(for: POLLIN, by: deadline)
            let before = context.pointee.reader.pointee.len
            guard redisBufferRead(context) == REDIS_OK else { throw failure }
            received += context.pointee.reader.pointee.len - before
            guard received <= maximumReplyByteCount else {
                throw RedisFailure(kind: .connection, message: "the reply exceeds \(maximumReplyByteCount) bytes")
            }
        }
    }

    /// Replaces hiredis's reader, which keeps a buffer of the size of its longest reply.
    private func shrinkReader() {
        guard let reader = context.pointee.reader, reader.pointee.pos == reader.pointee.len,
            let new = redisReaderCreate()
        else { return }
        redisReaderFree(reader)
        context.pointee.reader = new
    }

    private static func reply(
        _ reply: UnsafeMutablePointer<redisReply>, _ depth: Int
    ) throws(RedisFailure) -> RedisReply {
        switch reply.pointee.type {
        case REDIS_REPLY_INTEGER: return .number(Int(reply.pointee.integer))
        case REDIS_REPLY_NIL: return .none
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS:
            guard let text = reply.pointee.str else { return .bytes(Data()) }
            // The result takes over the string's memory, so that an entry is not copied again. `freeReplyObject` then
            // frees only the rest of the reply.
            reply.pointee.str = nil
            return .bytes(Data(bytesNoCopy: text, count: Int(reply.pointee.len), deallocator: .free))
        case REDIS_REPLY_ARRAY where depth > 0:
            var list: [RedisReply] = []
            for index in 0..<reply.pointee.elements {
                guard let element = reply.pointee.element[index] else { continue }
                list.append(try Self.reply(element, depth - 1))
            }
            return .list(list)
        case REDIS_REPLY_ERROR:
            let text = reply.pointee.str.map { String(cString: $0) } ?? ""
            throw RedisFailure(kind: .rejected, message: text)
        default: throw RedisFailure(kind: .rejected, message: "unknown reply type")
        }
    }

    // MARK: Time

    /// Waits until the socket is ready, for at most the response timeout and not beyond the end of the call.
    private func wait(for events: Int32, by deadline: ContinuousClock.Instant) throws(RedisFailure) {
        let end = min(deadline, ContinuousClock.now + responseTimeout)
        var file = pollfd(fd: context.pointee.fd, events: Int16(events), revents: 0)
        while true {
            let left = end - ContinuousClock.now
            guard left > .zero else { throw RedisFailure(kind: .timeout, message: "no reply within the timeout") }
            let count = poll(&file, 1, Int32(clamping: max(1, left.milliseconds)))
            // A thread that was scheduled after the deadline must fail as well.
            if count > 0, ContinuousClock.now < deadline { return }
            guard count >= 0 || errno == EINTR else {
                throw RedisFailure(kind: .connection, message: String(cString: strerror(errno)))
            }
        }
    }

    /// The error of the last hiredis call. It must be read directly after that call, while `errno` is unchanged.
    private var failure: RedisFailure {
        let isTimeout = context.pointee.err == REDIS_ERR_IO && errno == EAGAIN
        let message = withUnsafeBytes(of: context.pointee.errstr) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return RedisFailure(kind: isTimeout ? .timeout : .connection, message: message)
    }

    private static func time(_ duration: Duration) -> timeval {
        let milliseconds = max(1, duration.milliseconds)
        return timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
    }
}

/// The reply of a server to a command.
enum RedisReply: Sendable {
    case none
    case number(Int)
    case bytes(Data)
    case list([RedisReply])

    var number: Int? { if case .number(let number) = self { number } else { nil } }

    var bytes: Data? { if case .bytes(let bytes) = self { bytes } else { nil } }

    var list: [RedisReply]? { if case .list(let list) = self { list } else { nil } }
}

/// An error of a call to a server.
struct RedisFailure: Error {
    enum Kind {
        /// The connection has failed and cannot be used again.
        case connection
        /// The connection has failed because no reply arrived in time.
        case timeout
        /// The call has failed, but the connection has not. For example, the server rejects a store because it has no
        /// space, or an operation exceeds its time limit.
        case rejected
    }

    var kind: Kind
    var message: String
}
