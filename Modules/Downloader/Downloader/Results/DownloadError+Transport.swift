import AlcedoCore

extension DownloadError {
    init(_ error: HTTPTransportError) {
        let code: Code = error.code == .bodyTooLarge ? .tooLarge : .transport(error.code)
        self.init(code, error.message, cause: error)
    }
}
