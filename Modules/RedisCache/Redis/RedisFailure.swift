/// Why there is no answer.
struct RedisFailure: Error {
    enum Kind {
        /// The connection is of no use any more.
        case connection
        /// The server does not do what it was asked to, such as to store while it has no room.
        case refused
    }

    var kind: Kind
    var message: String
}
