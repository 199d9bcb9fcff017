import Alcedo

extension CodecRegistry {
    /// The codecs of originals, in the server and in the workers of its sandbox.
    static let server = CodecRegistry.standard
}
