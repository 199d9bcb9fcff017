/// How the pixels of a frame meet those of the canvas. All samples are straight.
package enum FrameBlend: Sendable, Hashable {
    /// They replace them, transparent ones too.
    case source
    /// They are laid over them, rounded to nearest. Source: W3C PNG specification, third edition, section 13.16.
    case over
    /// They are laid over them with the fixed-point arithmetic of libwebp's `WebPAnimDecoder`, to the bit.
    case overAsLibwebp
}
