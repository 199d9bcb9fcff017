extension DecodingOptions {
    /// The options for handing out the rows of a whole still picture.
    package var forRows: DecodingOptions {
        var options = self
        options.allowsPartial = false
        options.includesAnimation = false
        return options
    }

    /// What straight rows of full size pass through, on their way to `consumer`, to be what these options ask for:
    /// averaged down, then multiplied by alpha. The orientation is not applied.
    package func chain(from reduction: BoxReduction, to consumer: any PixelRowConsumer) -> any PixelRowConsumer {
        let last = alphaMode == .premultiplied ? RowPremultiplier(next: consumer) : consumer
        return reduction.factor > 1 ? BoxReducer(reduction, next: last) : last
    }
}
