import AlcedoCore

/// The errors of a transfer, made here so that what reads a body does not hold their parts.
enum TransferFailure {
    @inline(never)
    static func part(_ head: HTTPResponseHead) -> any Error {
        DownloadError(.transport(.invalidResponse), "the server sends a part, and was asked for the whole", head: head)
    }

    @inline(never)
    static func declaredTooLarge(_ count: Int, _ limit: Int, _ head: HTTPResponseHead) -> any Error {
        DownloadError(.tooLarge, "the server declares \(count) bytes, more than \(limit)", head: head)
    }

    @inline(never)
    static func tooLarge(_ limit: Int, _ head: HTTPResponseHead) -> any Error {
        DownloadError(.tooLarge, "the content has more than \(limit) bytes", head: head)
    }

    @inline(never)
    static func tooMany(_ expected: Int) -> any Error {
        HTTPTransportError(.invalidResponse, "more than the \(expected) declared bytes have arrived")
    }

    @inline(never)
    static func tooFew(_ count: Int, _ expected: Int) -> any Error {
        HTTPTransportError(.connectionLost, "\(count) of \(expected) declared bytes have arrived")
    }

    @inline(never)
    static func empty(_ head: HTTPResponseHead) -> any Error {
        DownloadError(.empty, "there are no bytes", head: head)
    }
}
