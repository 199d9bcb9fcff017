#if GTK
    import Alcedo

    /// One picture of the gallery.
    struct GalleryItem: Sendable {
        /// What a person calls it, and searches for.
        var name: String
        /// Where it is from, as shown with its details.
        var origin: String
        /// What to load, or why there is nothing that could be loaded.
        var request: Result<ImageRequest, any Error>
        /// The number that the picture itself shows; nil for pictures that are not drawn here.
        var number: Int?
    }
#endif
