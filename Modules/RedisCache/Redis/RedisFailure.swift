/// Why there is no answer.
struct RedisFailure: Error {
    enum Kind {
        /// The connection is of no use any more.
        case connection
        /// As `connection`, because nothing came in time.
        case silence
        /// The server does not do what it was asked to, such as to store while it has no room.
        case refused
    }

    var kind: Kind
    var message: String
}
