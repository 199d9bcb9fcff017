import AlcedoCore

/// What came of asking whether a stored answer holds, for everyone who asked at the same time.
enum Revalidation: Sendable {
    /// It holds, and has a new head, by this 304.
    case confirmed(StoredResponse, by: HTTPResponse, isStored: Bool)
    /// Something else was answered, which one of those who asked may have.
    case answered(Claim)

    /// Gives a value to the first who asks for it.
    final class Claim: Sendable {
        private let response: Locked<HTTPResponse?>

        init(_ response: HTTPResponse) { self.response = Locked(response) }

        /// - Parameter isConditional: Whether the caller has a copy of its own. Who has none gets no 304.
        func take(isConditional: Bool) -> HTTPResponse? {
            response.withLock { response in
                guard isConditional || response?.head.status != 304 else { return nil }
                return response.take()
            }
        }
    }
}
