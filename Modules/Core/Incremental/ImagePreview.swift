/// What can be shown of an image whose bytes are still arriving.
public struct ImagePreview: Sendable {
    /// The picture so far; what has not come is transparent black, or coarser than it will be.
    public var image: DecodedImage
    /// How many times the picture has been gone over, counting the pass in progress: scans of a progressive JPEG,
    /// passes of an interlaced PNG; 1 where rows come once.
    public var pass: Int
    /// Rows from the top that have come in this pass, all of them when the pass is complete.
    public var rowCount: Int

    /// What can be shown so far; by default of a format with one pass.
    public init(image: DecodedImage, pass: Int = 1, rowCount: Int) {
        self.image = image
        self.pass = pass
        self.rowCount = rowCount
    }
}
