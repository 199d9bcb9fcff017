import AlcedoCore
import CHiredis
import FoundationEssentials
import Glibc

/// One connection. Blocks; one thread at a time.
///
/// `@unchecked`: whoever has taken it out of the pool is the only one who has it.
final class RedisConnection: @unchecked Sendable {
    /// Answers are no deeper than a list of lists.
    private static let depth = 4

    private let context: UnsafeMutablePointer<redisContext>

    /// - Throws: ``RedisFailure``.
    init(_ options: RedisOptions) throws(RedisFailure) {
        let limit = Self.time(options.connectTimeout)
        let made =
            switch options.address {
            case .network(let host, let port): redisConnectWithTimeout(host, Int32(clamping: port), limit)
            case .socket(let path): redisConnectUnixWithTimeout(path, limit)
            }
        guard let made else { throw RedisFailure(kind: .connection, message: "no memory for a connection") }
        context = made
        guard made.pointee.err == 0 else { throw failure }
        redisSetTimeout(made, Self.time(options.answerTimeout))
        if let password = options.password {
            let words = ["AUTH"] + (options.user.map { [$0] } ?? []) + [password]
            _ = try ask([words.map { Data($0.utf8) }])
        }
        if options.database != 0 { _ = try ask([["SELECT", "\(options.database)"].map { Data($0.utf8) }]) }
    }

    deinit { redisFree(context) }

    /// Sends commands, and returns their answers, in order.
    ///
    /// - Throws: ``RedisFailure``; of kind `refused` when all were answered, and one by an error.
    func ask(_ commands: [[Data]]) throws(RedisFailure) -> [RedisReply] {
        try BrokenPipe.quietly { () throws(RedisFailure) in try exchange(commands) }
    }

    private func exchange(_ commands: [[Data]]) throws(RedisFailure) -> [RedisReply] {
        for command in commands { try append(command) }
        var replies: [RedisReply] = []
        var refusal: RedisFailure?
        for _ in commands {
            var found: UnsafeMutableRawPointer?
            guard redisGetReply(context, &found) == REDIS_OK, let found else { throw failure }
            defer { freeReplyObject(found) }
            do throws(RedisFailure) {
                replies.append(try Self.reply(found.assumingMemoryBound(to: redisReply.self).pointee, Self.depth))
            } catch {
                refusal = error
            }
        }
        if let refusal { throw refusal }
        return replies
    }

    private func append(_ words: [Data]) throws(RedisFailure) {
        // In one piece, so that the pointers to all of them hold at once.
        var flat = Data()
        for word in words { flat.append(word) }
        let result = flat.withUnsafeBytes { bytes in
            var offset = 0
            // An empty word has a length, and a pointer that nobody reads through.
            let start = bytes.baseAddress ?? UnsafeRawPointer(context)
            var pointers: [UnsafePointer<CChar>?] = []
            for word in words {
                pointers.append((start + offset).assumingMemoryBound(to: CChar.self))
                offset += word.count
            }
            return redisAppendCommandArgv(context, Int32(words.count), &pointers, words.map(\.count))
        }
        guard result == REDIS_OK else { throw failure }
    }

    private static func reply(_ reply: redisReply, _ depth: Int) throws(RedisFailure) -> RedisReply {
        switch reply.type {
        case REDIS_REPLY_INTEGER: return .number(Int(reply.integer))
        case REDIS_REPLY_NIL: return .none
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS:
            return .bytes(reply.str.map { Data(bytes: $0, count: Int(reply.len)) } ?? Data())
        case REDIS_REPLY_ARRAY where depth > 0:
            var list: [RedisReply] = []
            for index in 0..<reply.elements {
                guard let element = reply.element[index] else { continue }
                list.append(try Self.reply(element.pointee, depth - 1))
            }
            return .list(list)
        case REDIS_REPLY_ERROR:
            let text = reply.str.map { String(cString: $0) } ?? ""
            throw RedisFailure(kind: .refused, message: text)
        default: throw RedisFailure(kind: .refused, message: "an answer of an unknown kind")
        }
    }

    /// To be read at once after the call that failed, whose error number is still there then.
    private var failure: RedisFailure {
        let isSilence = context.pointee.err == REDIS_ERR_IO && errno == EAGAIN
        let message = withUnsafeBytes(of: context.pointee.errstr) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return RedisFailure(kind: isSilence ? .silence : .connection, message: message)
    }

    private static func time(_ duration: Duration) -> timeval {
        let milliseconds = max(1, duration.milliseconds)
        return timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
    }
}
