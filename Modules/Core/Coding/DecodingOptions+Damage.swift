extension DecodingOptions {
    /// Whether an image that is damaged so is handed out as far as it goes. A limit is no damage.
    package func allows(_ error: ImageDecodingError) -> Bool {
        allowsPartial && error.code != .exceedsLimit && error.code != .outOfMemory
    }
}
