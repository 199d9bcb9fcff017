import AlcedoCore

/// The stage that converts decoded images to the color space of a request.
struct ColorStage: Sendable {
    private let converter: (any ColorConverting)?
    private let report: Reporter

    init(_ converter: (any ColorConverting)?, report: Reporter) {
        self.converter = converter
        self.report = report
    }

    /// Returns decoding options for images that ``convert(_:for:)`` receives next.
    func options(_ options: DecodingOptions, for request: ImageRequest) -> DecodingOptions {
        var options = options.withDepthOfRange
        options.keepsInks = converter != nil && request.colorSpace != .embedded
        return options
    }

    /// Converts an image to the color space of a request. Reports and ignores an unusable profile. Blocks while it
    /// works. Needs no memory for pixels unless another image shares those of this image.
    func convert(_ image: inout DecodedImage, for request: ImageRequest) {
        let space = request.colorSpace
        guard let converter, space != .embedded else { return }
        let start = report.now
        let plan = ColorConversionPlan(
            image.rowHeader, to: space, range: request.decoding.dynamicRange, by: converter)
        let span = plan.convert == nil ? nil : report.begin(.colorConversion, request.key)
        plan.apply(to: &image, by: converter, space)
        span?.end(.success)
        if let error = plan.error { report(request.key, .colorProfileIgnored(error)) }
        if plan.convert != nil { report(request.key, .colorConverted(space), since: start) }
    }

    /// Returns a consumer that converts rows and passes them to `next`, and a closure that reports the conversion, to
    /// be called after the last row.
    func rows(
        for request: ImageRequest, into next: any PixelRowConsumer
    ) -> (consumer: any PixelRowConsumer, report: (_ start: Duration) -> Void) {
        let space = request.colorSpace
        guard let converter, space != .embedded else { return (next, { _ in }) }
        let rows = ColorConvertedRows(
            to: space, range: request.decoding.dynamicRange, by: converter, next: next)
        return (
            rows,
            { [report] start in
                if let error = rows.error { report(request.key, .colorProfileIgnored(error)) }
                if rows.isConverting { report(request.key, .colorConverted(space), since: start) }
            }
        )
    }

    /// Returns the converted preview, without a report.
    func convert(_ preview: ImagePreview, for request: ImageRequest) -> ImagePreview {
        let space = request.colorSpace
        guard let converter, space != .embedded else { return preview }
        var result = preview
        let plan = ColorConversionPlan(
            preview.image.rowHeader, to: space, range: request.decoding.dynamicRange, by: converter)
        result.image = plan.applied(to: preview.image, by: converter, space)
        return result
    }

    /// Whether ``convert(_:for:)`` may change an image, without a look at its profile.
    func mayConvert(_ image: DecodedImage, for request: ImageRequest) -> Bool {
        guard converter != nil, request.colorSpace != .embedded else { return false }
        return image.colorProfile != request.colorSpace.colorProfile
    }
}
