package import FoundationEssentials

/// Facts about the bytes of an ICC profile that encoders need.
package enum ICCProfile {
    /// Whether the data color space in a profile's header is gray, or RGB when `gray` is false.
    ///
    /// Source: ICC.1:2022, section 7.2.6.
    package static func describes(gray: Bool, _ profile: Data) -> Bool {
        profile.count >= 128 && profile.dropFirst(16).prefix(4).elementsEqual((gray ? "GRAY" : "RGB ").utf8)
    }
}
