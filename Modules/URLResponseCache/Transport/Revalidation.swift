import AlcedoCore

/// What came of asking whether a stored answer holds, for everyone who asked at the same time.
enum Revalidation: Sendable {
    /// It holds, and this is its new head.
    case confirmed(StoredResponse, interim: [HTTPResponseHead], isStored: Bool)
    /// Something else was answered, which one of those who asked may have.
    case answered(Claim)

    /// Gives a value to the first who asks for it.
    final class Claim: Sendable {
        private let response: Locked<HTTPResponse?>

        init(_ response: HTTPResponse) { self.response = Locked(response) }

        func take() -> HTTPResponse? { response.withLock { $0.take() } }
    }
}
