public import AlcedoCore
@_exported public import AlcedoGIF
@_exported public import AlcedoJPEG
@_exported public import AlcedoPNG
@_exported public import AlcedoWebP

extension CodecRegistry {
    /// The codecs of JPEG, PNG, WebP and GIF.
    ///
    /// ```swift
    /// let image = try CodecRegistry.standard.decode(data)
    /// ```
    public static var standard: CodecRegistry { CodecRegistry([.jpeg, .png, .webp, .gif]) }
}
