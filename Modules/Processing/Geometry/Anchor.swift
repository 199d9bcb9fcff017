import AlcedoCore

extension ImageProcessors {
    /// Where a smaller rectangle lies in a larger one: which shares of the free space are left of it and above.
    public struct Anchor: Sendable, Hashable {
        let x: Double
        let y: Double

        /// Creates an anchor of shares from 0, at the left or the top edge, to 1, at the right or the bottom edge. Processors
        /// throw `invalidParameter` for others.
        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }

        /// In the middle both ways.
        public static let center = Anchor(x: 0.5, y: 0.5)
        /// At the top, in the middle across.
        public static let top = Anchor(x: 0.5, y: 0)
        /// At the bottom, in the middle across.
        public static let bottom = Anchor(x: 0.5, y: 1)
        /// At the left, in the middle of its height.
        public static let left = Anchor(x: 0, y: 0.5)
        /// At the right, in the middle of its height.
        public static let right = Anchor(x: 1, y: 0.5)
        /// In the top left corner.
        public static let topLeft = Anchor(x: 0, y: 0)
        /// In the top right corner.
        public static let topRight = Anchor(x: 1, y: 0)
        /// In the bottom left corner.
        public static let bottomLeft = Anchor(x: 0, y: 1)
        /// In the bottom right corner.
        public static let bottomRight = Anchor(x: 1, y: 1)

        /// Stable: part of cache keys.
        var identifier: String { "\(x);\(y)" }

        /// The top left corner of a rectangle of `size` in one of `bounds`, rounded left and up; negative where it is the
        /// larger. Both are sizes of pictures.
        func origin(of size: PixelSize, in bounds: PixelSize) throws(ImageProcessingError) -> (x: Int, y: Int) {
            guard (0...1).contains(x), (0...1).contains(y) else {
                throw ImageProcessingError(.invalidParameter, "\(identifier) is no place in a picture")
            }
            let start = { (share: Double, free: Int) in Int((Double(free) * share).rounded(.down)) }
            return (start(x, bounds.width - size.width), start(y, bounds.height - size.height))
        }
    }
}
