extension ImageProcessors {
    /// The rule that tells which parts of an overlay and of the image under it the result shows.
    ///
    /// Names and formulas are those of the W3C specification Compositing and Blending Level 1, in which `add` is called
    /// `lighter`, and for `saturate` those of cairo. Where an overlay does not cover the image, it counts as
    /// transparent: `.sourceIn`, `.sourceOut`, `.destinationIn` and `.destinationAtop` remove the image there.
    ///
    /// Source: Porter and Duff, "Compositing Digital Images", SIGGRAPH 1984.
    public enum CompositingOperator: String, Sendable, Hashable, CaseIterable {
        /// The overlay over the image.
        case sourceOver
        /// The part of the overlay inside the image. Nothing of the image remains.
        case sourceIn
        /// The part of the overlay outside the image. Nothing of the image remains.
        case sourceOut
        /// The part of the overlay inside the image, over the image. The image keeps its alpha.
        case sourceAtop
        /// The image over the overlay.
        case destinationOver
        /// The part of the image inside the overlay, which is a mask. Nothing remains where there is no overlay.
        case destinationIn
        /// The part of the image outside the overlay, which masks the removed part.
        case destinationOut
        /// The part of the image inside the overlay, over the overlay. Nothing remains where there is no overlay.
        case destinationAtop
        /// The parts of each that are outside the other.
        case xor
        /// The sum of both, at most the maximum.
        case add
        /// The image, and the part of the overlay that fits beside it: the sum of both if their alpha is at most 1.
        case saturate
    }
}

extension ImageProcessors.CompositingOperator {
    /// The shares of the overlay and of the image in the result, each as a constant and a factor of the alpha of the
    /// other.
    struct Shares {
        let source: (constant: Float, ofAlpha: Float)
        let backdrop: (constant: Float, ofAlpha: Float)
    }

    /// The shares. Those of `saturate` do not count the part of the overlay that lies over the image.
    var shares: Shares {
        switch self {
        case .sourceOver: Shares(source: (1, 0), backdrop: (1, -1))
        case .sourceIn: Shares(source: (0, 1), backdrop: (0, 0))
        case .sourceOut: Shares(source: (1, -1), backdrop: (0, 0))
        case .sourceAtop: Shares(source: (0, 1), backdrop: (1, -1))
        case .destinationOver, .saturate: Shares(source: (1, -1), backdrop: (1, 0))
        case .destinationIn: Shares(source: (0, 0), backdrop: (0, 1))
        case .destinationOut: Shares(source: (0, 0), backdrop: (1, -1))
        case .destinationAtop: Shares(source: (1, -1), backdrop: (0, 1))
        case .xor: Shares(source: (1, -1), backdrop: (1, -1))
        case .add: Shares(source: (1, 0), backdrop: (1, 0))
        }
    }

    /// Whether the image does not change where the overlay is transparent.
    var keepsUncovered: Bool { shares.backdrop.constant == 1 }

    /// Whether an opaque image stays opaque under any overlay.
    var keepsOpaque: Bool {
        let (source, backdrop) = (shares.source, shares.backdrop)
        // The share of the overlay, whose alpha may be 1, makes up for the part of the image that it covers.
        return keepsUncovered && source.constant + source.ofAlpha + backdrop.ofAlpha >= 0
    }
}
