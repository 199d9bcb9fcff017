import AlcedoCore

extension ImageProcessors {
    /// The position of a smaller rectangle in a larger one, given as the shares of the free space to its left and above
    /// it.
    public struct Anchor: Sendable, Hashable {
        let x: Double
        let y: Double

        /// Creates an anchor from shares between 0 (left or top edge) and 1 (right or bottom edge). Processors throw
        /// `invalidParameter` for other values.
        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }

        /// The center of both sides.
        public static let center = Anchor(x: 0.5, y: 0.5)
        /// The center of the top edge.
        public static let top = Anchor(x: 0.5, y: 0)
        /// The center of the bottom edge.
        public static let bottom = Anchor(x: 0.5, y: 1)
        /// The center of the left edge.
        public static let left = Anchor(x: 0, y: 0.5)
        /// The center of the right edge.
        public static let right = Anchor(x: 1, y: 0.5)
        /// The top left corner.
        public static let topLeft = Anchor(x: 0, y: 0)
        /// The top right corner.
        public static let topRight = Anchor(x: 1, y: 0)
        /// The bottom left corner.
        public static let bottomLeft = Anchor(x: 0, y: 1)
        /// The bottom right corner.
        public static let bottomRight = Anchor(x: 1, y: 1)

        /// The name of the position in cache keys. It must not change between releases.
        var identifier: String { "\(x);\(y)" }

        /// Returns the top left corner of a rectangle of `size` inside one of `bounds`, rounded to the left and up.
        /// Coordinates are negative where `size` is larger than `bounds`. Both must be valid image sizes.
        func origin(of size: PixelSize, in bounds: PixelSize) throws(ImageProcessingError) -> (x: Int, y: Int) {
            guard (0...1).contains(x), (0...1).contains(y) else {
                throw ImageProcessingError(.invalidParameter, "invalid anchor: \(identifier)")
            }
            let start = { (share: Double, free: Int) in Int((Double(free) * share).rounded(.down)) }
            return (start(x, bounds.width - size.width), start(y, bounds.height - size.height))
        }
    }
}
