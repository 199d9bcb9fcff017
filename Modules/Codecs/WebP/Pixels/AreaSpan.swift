/// The source pixels of one axis that an output pixel covers, and what share each has in it.
struct AreaSpan {
    let first: Int
    /// At least one.
    let count: Int
    let firstShare: Float
    /// Of every pixel between the first and the last.
    let innerShare: Float
    /// nought when there is only one.
    let lastShare: Float

    var end: Int { first + count }

    /// Output pixel `index` of `length`, over `source` pixels. All are positive, and products of two lengths fit.
    init(_ index: Int, of length: Int, over source: Int) {
        // In parts of a pixel of which each output pixel has `source`, and each source pixel `length`.
        let (low, high) = (index * source, (index + 1) * source)
        let last = (high - 1) / length
        first = low / length
        count = last - first + 1
        firstShare = Float(min(high, (first + 1) * length) - low) / Float(source)
        innerShare = Float(length) / Float(source)
        lastShare = count > 1 ? Float(high - last * length) / Float(source) : 0
    }
}
