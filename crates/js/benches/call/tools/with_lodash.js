const _ = lib("lodash");

const line = _.template("<%- customer %>: <%= count %> for <%= total %>");

function execute({ orders }) {
  const customers = _.groupBy(orders, "customer");
  return _.map(customers, (own, customer) =>
    line({ customer, count: own.length, total: _.sumBy(own, "price").toFixed(2) }),
  ).join("\n");
}
