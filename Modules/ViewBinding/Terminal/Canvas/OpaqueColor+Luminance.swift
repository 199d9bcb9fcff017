import AlcedoCore

extension OpaqueColor {
    /// From 0 to 255, weighted as the eye sees. Source: ITU-R BT.709-6, item 3.2.
    var luminance: Int { (Int(red) * 2126 + Int(green) * 7152 + Int(blue) * 722 + 5000) / 10_000 }
}
