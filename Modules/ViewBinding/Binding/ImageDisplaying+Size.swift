import AlcedoCore

extension ImageDisplaying {
    /// The request at the view's size, where the options and the request leave that to the view; nil when the size is not
    /// known yet.
    func sized(_ request: ImageRequest, _ options: BindingOptions) -> ImageRequest? {
        guard options.usesViewSize, request.decoding.target == nil else { return request }
        switch displaySize {
        case .any: return request
        case .target(let target) where target.size.isPositive:
            var sized = request
            sized.decoding.target = target
            return sized
        case .pending, .target: return nil
        }
    }
}
