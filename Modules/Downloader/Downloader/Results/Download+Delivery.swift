import AlcedoCore

extension Download {
    init(_ delivery: Delivery) {
        let end = delivery.end
        self.init(data: delivery.data, head: end.head, caching: end.caching, metrics: end.metrics)
    }
}
