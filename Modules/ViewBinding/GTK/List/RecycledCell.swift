#if GTK
    /// A cell of a list that shows one item after another.
    ///
    /// A list has far fewer cells than items: a cell that scrolls out of sight comes back with another item. So `unbind`
    /// has to cancel what was begun for the old one.
    @MainActor public protocol RecycledCell: AnyObject, Sendable {
        /// A `GtkWidget`; the same for as long as the cell lives.
        var widget: OpaquePointer { get }
        /// Shows the item at a position of the list's model. Runs while GTK lays the list out, so it must take well
        /// under a millisecond.
        func bind(to position: Int)
        /// Stops to show the item: another one, or none, will follow. Runs in the turn of the main loop after GTK's own
        /// unbind, or right before the next `bind`; not at all when GTK binds the same item again by then, as it does
        /// when the focus moves: nothing is bound then, either.
        func unbind()
    }
#endif
