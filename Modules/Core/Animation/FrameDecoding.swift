/// Decodes single frames of an animation, of which a codec knows the order and ``CompositedAnimation`` the rest.
package protocol FrameDecoding: Sendable {
    /// The pixels of frame `index` alone: straight RGBA8, of the size of its area. Calls come one at a time.
    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer

    /// Bytes kept, the encoded file included.
    var byteCount: Int { get }
}
