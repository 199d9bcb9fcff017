#if GTK
    /// Where a picture came from. The pipeline knows of no response cache: what that has, came from the network for it.
    enum PictureLayer: String, CaseIterable {
        case memory
        case disk
        case response
        case network
        case local

        /// As a person is told it.
        var name: String { self == .response ? "HTTP cache" : rawValue }
    }
#endif
