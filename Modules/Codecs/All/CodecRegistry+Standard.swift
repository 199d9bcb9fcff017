public import AlcedoCore
@_exported public import AlcedoGIF
@_exported public import AlcedoJPEG
@_exported public import AlcedoPNG
@_exported public import AlcedoWebP

extension CodecRegistry {
    /// Every format of this package, the commonest first.
    public static var standard: CodecRegistry { CodecRegistry([.jpeg, .png, .webp, .gif]) }
}
