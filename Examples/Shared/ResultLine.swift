public import Alcedo

/// What a script is told of one image, or of one file that was made of it.
public struct ResultLine: Sendable {
    /// The image as it was named, without a password; nil for a file of all images.
    public var input: String?
    /// The file; nil where none was written.
    public var output: String?
    /// Which frame of an animation is in the file; nil for the image.
    public var frame: Int?
    /// Of what was made, in pixels; nil where nothing was.
    public var size: PixelSize?
    /// Encoded bytes that were read; nil for an image from memory.
    public var byteCount: Int?
    /// Which layer had the image; nil where it was not to be had.
    public var layer: ImageResponse.Layer?
    /// What the image has and the file has not; nil where nobody looked.
    public var lost: [String]?
    /// nil when all is well.
    public var error: String?

    public init(input: String?) { self.input = input }

    /// Every key is there, so that a script need not ask.
    var object: [String: JSONValue] {
        [
            "input": .init(input), "output": .init(output), "frame": .init(frame), "width": .init(size?.width),
            "height": .init(size?.height), "bytes": .init(byteCount), "layer": .init(layer?.rawValue),
            "lost": lost.map { .texts($0) } ?? .null, "error": .init(error),
        ]
    }
}
