import FoundationEssentials

/// What a server answers.
enum RedisReply: Sendable {
    case none
    case number(Int)
    case bytes(Data)
    case list([RedisReply])

    var number: Int? { if case .number(let number) = self { number } else { nil } }

    var bytes: Data? { if case .bytes(let bytes) = self { bytes } else { nil } }

    var list: [RedisReply]? { if case .list(let list) = self { list } else { nil } }
}
