import Alcedo

extension Refusal {
    /// What a client is told of a failure. Words of our own: an origin's are not passed on.
    init(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case is CancellationError: self = .stopping
        case let error as PipelineError: self.init(error)
        case is ImageEncodingError: self.init(500, "the picture cannot be written in this format")
        default: self.init(500, "something went wrong")
        }
    }

    private init(_ error: PipelineError) {
        switch (error.code, error.cause) {
        case (.download, let cause as DownloadError): self.init(cause)
        case (.download, _): self.init(502, "the origin cannot be asked")
        case (.decoding(.exceedsLimit), _): self.init(413, "the original has too many pixels, or frames")
        case (.decoding(.outOfMemory), _): self.init(503, "there is no memory for the original", retryAfter: 1)
        case (.decoding(.unknownFormat), _), (.decoding(.empty), _): self.init(422, "the original is no picture")
        case (.decoding, _): self.init(422, "the original cannot be decoded")
        case (.processing, _): self.init(422, "the picture cannot be made of the original")
        case (.shutDown, _): self = .stopping
        case (.notInCache, _), (.notStored, _): self.init(502, "the origin cannot be asked")
        }
    }

    private init(_ error: DownloadError) {
        switch error.code {
        case .status(404): self.init(404, "the origin has no such picture")
        case .status(410): self.init(410, "the origin has the picture no more")
        case .status: self.init(502, "the origin does not give the picture")
        case .tooLarge: self.init(413, "the original has too many bytes")
        case .unexpectedContent, .empty: self.init(422, "the original is no picture")
        case .transport(.timedOut): self.init(504, "the origin does not answer in time")
        case .transport(.addressRefused): self = AllowList.refusal
        case .hook where error.cause is Refusal: self = AllowList.refusal
        case .shutDown: self = .stopping
        default: self.init(502, "the origin cannot be asked")
        }
    }
}
