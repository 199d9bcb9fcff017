import AlcedoCore

extension ImageProcessors {
    /// The position of a smaller rectangle in a larger one.
    public enum Anchor: Sendable, Hashable {
        /// The center of both sides.
        case center
        /// The center of the top edge.
        case top
        /// The center of the bottom edge.
        case bottom
        /// The center of the left edge.
        case left
        /// The center of the right edge.
        case right
        /// The top left corner.
        case topLeft
        /// The top right corner.
        case topRight
        /// The bottom left corner.
        case bottomLeft
        /// The bottom right corner.
        case bottomRight
        /// A position given as the shares of the free space to the left of the smaller rectangle and above it, from 0
        /// (left or top edge) to 1 (right or bottom edge). Processors throw `invalidParameter` for other values.
        case at(x: Double, y: Double)

        /// A position centered on a focal point of the larger rectangle, such as a face, as far as its edges permit.
        /// The point is given as shares of the width and height, from 0 (left or top edge) to 1 (right or bottom edge).
        /// Processors throw `invalidParameter` for other values.
        case focus(x: Double, y: Double)
        /// The most salient part of an image, with edges, skin and saturated colors. Of equal parts, the one closest to
        /// the center is chosen. A part that would cut an area that looks like a face is moved if the face fits.
        ///
        /// `.crop(to:at:)`, `.crop(aspect:at:)` and `.resize(covering:at:)` find the part. All frames of an animation
        /// are cropped to that of the first one. Other processors throw `invalidParameter`.
        case smart

        private var shares: (x: Double, y: Double) {
            switch self {
            case .center: (0.5, 0.5)
            case .top: (0.5, 0)
            case .bottom: (0.5, 1)
            case .left: (0, 0.5)
            case .right: (1, 0.5)
            case .topLeft: (0, 0)
            case .topRight: (1, 0)
            case .bottomLeft: (0, 1)
            case .bottomRight: (1, 1)
            case .at(let x, let y), .focus(let x, let y): (x, y)
            case .smart: (.nan, .nan)
            }
        }

        /// Whether the position is the center, in whichever form it is given.
        var isCenter: Bool { shares == (0.5, 0.5) }

        /// The name of the position in cache keys, which is the same for every form of a position. It must not change
        /// between releases.
        var identifier: String {
            let position = "\(shares.x);\(shares.y)"
            switch self {
            case .focus where !isCenter: return "focus:\(position)"
            // The number changes when the choice changes.
            case .smart: return "smart2"
            default: return position
            }
        }

        /// Returns the top left corner of a rectangle of size `size` in a rectangle of size `bounds`, rounded to the
        /// left and up. On an axis where `size` is larger than `bounds`, the coordinate is zero or negative. Both must
        /// be valid image sizes. Throws `invalidParameter` for a share outside 0 to 1.
        func origin(of size: PixelSize, in bounds: PixelSize) throws(ImageProcessingError) -> (x: Int, y: Int) {
            let (x, y) = try checkedShares
            return (
                Int(start(x, Double(size.width), Double(bounds.width)).rounded(.down)),
                Int(start(y, Double(size.height), Double(bounds.height)).rounded(.down))
            )
        }

        /// Moves a region of an image to this position in an image of size `bounds`, which contains the region. Throws
        /// `invalidParameter` for a share outside 0 to 1.
        func place(_ region: inout SampleRegion, in bounds: PixelSize) throws(ImageProcessingError) {
            let (x, y) = try checkedShares
            region.x = start(x, region.width, Double(bounds.width))
            region.y = start(y, region.height, Double(bounds.height))
        }

        private var checkedShares: (x: Double, y: Double) {
            get throws(ImageProcessingError) {
                let (x, y) = shares
                // The shares of `smart` are not known without pixels.
                guard (0...1).contains(x), (0...1).contains(y) else {
                    throw ImageProcessingError(.invalidParameter, "invalid anchor: \(identifier)")
                }
                return (x, y)
            }
        }

        private func start(_ share: Double, _ length: Double, _ bounds: Double) -> Double {
            let free = bounds - length
            guard case .focus = self else { return free * share }
            return max(min(0, free), min(bounds * share - length / 2, max(0, free)))
        }
    }
}
